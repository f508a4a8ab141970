/** A group of cards on a board. */
export const groupShapes = ['box', 'hug'] as const
export interface Group {
  name: string
  color: string | null
  shape: (typeof groupShapes)[number]
  outline: boolean
}

/** A change of a group: the fields that were sent. Null clears the color. */
export type GroupChange = Partial<Group>

export const groupDefaults = { color: null, shape: 'box', outline: true } as const satisfies GroupChange
