/** The page `/settings`: the list of its sections. Each section has its own file. */
import type { SignInContext } from '../sign-in/context.ts'
import { html } from '../sign-in/html.ts'
import { ownPage, type PageRoute } from '../sign-in/visit.ts'
import { applicationsSection } from './applications.ts'
import type { Section, Settings } from './section.ts'
import { passwordSection } from './password.ts'
import { sessionsSection } from './sessions.ts'
import { tokensSection } from './tokens.ts'
import { workspacePages } from './workspace.ts'
import { workspacesSection } from './workspaces.ts'

const sections: readonly Section[] = [
  tokensSection,
  workspacesSection,
  applicationsSection,
  sessionsSection,
  passwordSection,
]

export function settingsPages(context: SignInContext): PageRoute[] {
  const settings: Settings = {
    async show(visit, news) {
      const shown = await Promise.all(
        sections.map(async (section) => ({ ...section, body: await section.show(context, visit) })),
      )
      const { email, name } = visit.signedIn
      const body = html`<header>
          <h1>Settings</h1>
          <form method="post" action="/logout">
            ${visit.csrf}
            <span>${name === null ? email : `${name} (${email})`}</span>
            <button class="plain">Log out</button>
          </form>
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
      return { title: 'Settings', body, ...(news?.status ? { status: news.status } : {}) }
    },
  }
  return [
    ownPage('GET', '/settings', (visit) => settings.show(visit)),
    ...workspacePages(context),
    ...sections.flatMap((section) => section.pages(context, settings)),
  ]
}
