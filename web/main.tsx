/** Starts the app. */
import { createRoot } from 'react-dom/client'
import { App } from './shell/app.tsx'
import { moveToOwnOrigin } from './service/token.ts'

const root = createRoot(document.getElementById('app')!)

// The page is about to be left when it was opened by another address of the service.
if (!(await moveToOwnOrigin())) root.render(<App />)

declare module 'react' {
  /** Styles may set the custom properties of `style/`. */
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}
