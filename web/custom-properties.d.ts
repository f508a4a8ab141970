/** React's styles may set the custom properties of `style/`. */
import 'react'

declare module 'react' {
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}
