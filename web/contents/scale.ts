/** How large cards are shown: 1 is their own size. Pictures are fetched in the size in which they are shown. */
import { createContext } from 'react'

export const ScaleContext = createContext(1)
