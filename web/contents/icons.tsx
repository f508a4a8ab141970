/** Small signs for what has no picture. */
import type { ReactNode } from 'react'

const paths = {
  file: 'M6 2h8l5 5v15H6z M14 2v5h5',
  pdf: 'M6 2h8l5 5v15H6z M14 2v5h5 M9 12h6 M9 15h6 M9 18h3',
  audio: 'M9 18V6l10-2v12 M9 18a3 3 0 1 1-3-3a3 3 0 0 1 3 3z M19 16a3 3 0 1 1-3-3a3 3 0 0 1 3 3z',
  video: 'M3 6h18v12H3z M10 9.5l5 2.5l-5 2.5z',
  link: 'M10 14a4 4 0 0 0 6 .4l3-3a4 4 0 0 0-5.6-5.6l-1.4 1.3 M14 10a4 4 0 0 0-6-.4l-3 3a4 4 0 0 0 5.6 5.6l1.4-1.3',
  picture: 'M3 5h18v14H3z M3 16l5-5l4 4l3-3l6 6 M15.5 9a1 1 0 1 0 .01 0',
}

export const Icon = ({ is }: { is: keyof typeof paths }): ReactNode => (
  <svg className="icon" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
    <path d={paths[is]} />
  </svg>
)
