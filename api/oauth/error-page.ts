/** The page for an authorization request that is invalid, when the browser can't be redirected to the application. */
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
    <p class="fault" role="alert">${described ?? 'The request is malformed.'} <small>(${error})</small></p>
    <p>
      It got no access to your account. Go back to the application and try again. If that does not help,
      report the error to the makers of the application.
    </p>
  </main>`
  return renderPage({ title: 'Not connected', body })
}
