/** Starts the app. */
import '@fontsource-variable/inter'
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'
import { GuestPage } from './shell/guest-page.tsx'
import { guestPath } from './shell/route.ts'
import { moveToOwnOrigin } from './service/token.ts'

// The browser would open a file that nothing takes. `document` hears of it first: that is where a board takes files.
for (const type of ['dragover', 'drop'] as const)
  addEventListener(type, (event) => {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    event.dataTransfer.dropEffect = 'none'
  })

const root = createRoot(document.getElementById('app')!)

// The page is about to be left when it was opened by another address of the service. Without an answer it stays.
if (!(await moveToOwnOrigin().catch(() => false)))
  root.render(location.pathname === guestPath ? <GuestPage /> : <App />)

declare module 'react' {
  /** Styles may set the custom properties of `style/`. */
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}
