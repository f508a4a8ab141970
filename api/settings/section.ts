import type { SignInContext } from '../sign-in/context.ts'
import type { Html } from '../sign-in/html.ts'
import type { OwnVisit, PageRoute } from '../sign-in/visit.ts'

/** What a visit to the settings found out just now, shown once in the section that it is about. */
export interface News {
  section: string
  body: Html
}

/** One part of the settings page, with the pages that its forms lead to. */
export interface Section {
  /** The fragment that leads to it, `/settings#id`. */
  id: string
  title: string
  show(context: SignInContext, visit: OwnVisit): Promise<Html>
  pages(context: SignInContext, settings: Settings): PageRoute[]
}

/** The page as a whole, for pages that show it with news. */
export interface Settings {
  show(
    visit: OwnVisit,
    news?: News & { status?: number },
  ): Promise<{ title: string; body: Html; status?: number }>
}
