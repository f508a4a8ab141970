/** React's styles may set the custom properties of `style/`. */
import type {} from 'react'

declare module 'react' {
  interface CSSProperties {
    [property: `--${string}`]: string | number | undefined
  }
}
