import type { SignInContext } from '../sign-in/context.ts'
import type { Html } from '../sign-in/html.ts'
import type { OwnVisit, PageRoute } from '../sign-in/visit.ts'

/** A message for one section, such as a new token or an error. It is shown once. */
export interface News {
  section: string
  body: Html
}

/** One section of the settings page, with the pages for its forms. */
export interface Section {
  /** The fragment in its URL, `/settings#id`. */
  id: string
  title: string
  show(context: SignInContext, visit: OwnVisit): Promise<Html>
  pages(context: SignInContext, settings: Settings): PageRoute[]
}

/** Renders the whole settings page, for handlers that show it with a message. */
export interface Settings {
  show(
    visit: OwnVisit,
    news?: News & { status?: number },
  ): Promise<{ title: string; body: Html; status?: number }>
}
