import type { SignInContext } from '../sign-in/context.ts'
import { html, type Html } from '../sign-in/html.ts'
import type { OwnVisit, PageRoute, VisitAnswer } from '../sign-in/visit.ts'
import type { News } from './section.ts'
import { workspacePath } from './workspaces.ts'

/** One part of the page of a workspace, with the pages for its forms. */
export interface WorkspacePart {
  /** The fragment in its URL. */
  id: string
  title: string
  show(context: SignInContext, visit: OwnVisit, workspaceId: string): Promise<Html>
  pages(context: SignInContext, shell: WorkspacePages): PageRoute[]
}

/** Renders the page of a workspace, for handlers that show it with a message. */
export interface WorkspacePages {
  show(visit: OwnVisit, workspaceId: string, news?: News & { status?: number }): Promise<VisitAnswer>
}

export const partUrl = (workspaceId: string, part: string) =>
  `${workspacePath}?id=${encodeURIComponent(workspaceId)}#${part}`

export const faultNews = (section: string, fault: string) => ({
  section,
  body: html`<p class="fault" role="alert">${fault}</p>`,
  status: 422,
})

/** Radio buttons. The first one is chosen. */
export const choices = (
  name: string,
  legend: string,
  options: readonly [value: string, says: string][],
): Html =>
  html`<fieldset>
    <legend>${legend}</legend>
    ${options.map(
      ([value, says], at) =>
        html`<label class="choice">
          ${
            at === 0
              ? html`<input type="radio" name="${name}" value="${value}" checked />`
              : html`<input type="radio" name="${name}" value="${value}" />`
          }
          ${says}
        </label>`,
    )}
  </fieldset>`
