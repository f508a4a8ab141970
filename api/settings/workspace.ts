/** The page `/settings/workspace`: who has access to a workspace. Each part has its own file. Only the owner sees it. */
import { html } from '../sign-in/html.ts'
import type { SignInContext } from '../sign-in/context.ts'
import { ownPage, type OwnVisit, type PageRoute, type VisitAnswer } from '../sign-in/visit.ts'
import { uuidPattern } from '../http/schemas.ts'
import { guestLinksPart } from './guest-links.ts'
import { invitationsPart } from './invitations.ts'
import { membersPart } from './members.ts'
import type { WorkspacePart, WorkspacePages } from './workspace-part.ts'
import { workspacePath } from './workspaces.ts'

const parts: readonly WorkspacePart[] = [membersPart, invitationsPart, guestLinksPart]

export function workspacePages(context: SignInContext): PageRoute[] {
  const shell: WorkspacePages = {
    async show(visit, workspaceId, news) {
      const name = await nameOf(context, visit, workspaceId)
      if (name === null) return notOwned
      const shown = await Promise.all(
        parts.map(async (part) => ({ ...part, body: await part.show(context, visit, workspaceId) })),
      )
      const body = html`<header>
          <h1>${name}</h1>
          <p><a href="/settings#workspaces">All settings</a></p>
        </header>
        <main>
          ${shown.map(
            ({ id, title, body }) =>
              html`<section id="${id}">
                <h2>${title}</h2>
                ${news?.section === id && news.body}${body}
              </section>`,
          )}
        </main>`
      return { title: name, body, ...(news?.status ? { status: news.status } : {}) }
    },
  }
  return [
    ownPage('GET', workspacePath, (visit) => shell.show(visit, visit.query.get('id') ?? '')),
    ...parts.flatMap((part) => part.pages(context, shell)),
  ]
}

const notOwned: VisitAnswer = { redirect: '/settings#workspaces' }

/** Null when the account does not own such a workspace. */
async function nameOf(
  { database }: SignInContext,
  { signedIn }: OwnVisit,
  id: string,
): Promise<string | null> {
  if (!uuidPattern.test(id)) return null
  const [row] = await database.asUser(
    signedIn.userId,
    (tx) => tx<{ name: string }[]>`
      select name from workspaces where id = ${id} and owner_id = ${signedIn.userId}`,
  )
  return row?.name ?? null
}
