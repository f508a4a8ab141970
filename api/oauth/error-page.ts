/** For a person whose browser was sent here with something wrong, and cannot be sent back. */
import { html } from '../sign-in/html.ts'
import { renderPage } from '../sign-in/page.ts'

export function errorPage({
  error,
  error_description: described,
}: {
  error: string
  error_description?: string
}): string {
  const body = html`<main class="narrow">
    <h1>This application could not be connected</h1>
    <p class="fault" role="alert">
      ${described ?? 'The request was not as it has to be.'} <small>(${error})</small>
    </p>
    <p>
      Nothing was allowed. Go back to the application and try again; if it stays like this, its makers have to
      mend it.
    </p>
  </main>`
  return renderPage({ title: 'Not connected', body })
}
