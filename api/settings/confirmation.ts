/** A page that asks for confirmation before an action. It works without JavaScript: confirming sends its form. */
import { html, type Html } from '../sign-in/html.ts'
import type { Page } from '../sign-in/page.ts'

export interface Confirmation {
  question: string
  /** What the action does, as a sentence. */
  consequence: string
  /** The path that the form is sent to. */
  action: string
  fields: Record<string, string>
  label: string
  /** The local URL to return to. */
  back: string
}

export function confirmationPage(
  { question, consequence, action, fields, label, back }: Confirmation,
  csrf: Html,
): Page {
  return {
    title: question,
    body: html`<main class="narrow">
      <h1>${question}</h1>
      <p>${consequence}</p>
      <form method="post" action="${action}">
        ${csrf}
        ${Object.entries(fields).map(
          ([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`,
        )}
        <p class="actions">
          <button class="bad">${label}</button> <a class="button plain" href="${back}">Cancel</a>
        </p>
      </form>
    </main>`,
  }
}
