/** A group of cards on a board. */
export const groupShapes = ['box', 'hug'] as const
export interface Group {
  name: string
  color: string | null
  shape: (typeof groupShapes)[number]
  outline: boolean
}
