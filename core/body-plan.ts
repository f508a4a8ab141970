/** Plans the edits that turn a card's body into the text that a client wrote. */
import type { Effort } from './shortest-edit.ts'
import { applyEdits, diffText, mergeText, type TextEdit } from './text-merge.ts'

export interface BodyChange {
  current: string
  wanted: string
  /** The text on which the client based its edit, if the request contains it. */
  base: string | undefined
}

export interface BodyPlan {
  /** The edits turn this text into `body`. */
  current: string
  edits: TextEdit[]
  body: string
}

export function planBody({ current, wanted, base }: BodyChange, effort: Effort): BodyPlan {
  const edits =
    base === undefined ? diffText(current, wanted, effort) : mergeText(base, current, wanted, effort)
  const body = applyEdits(current, edits)
  return { current, edits, body }
}

/** Plans several bodies, each with its own effort. The caller has `current`, so the results omit it. */
export function planBodies({
  changes,
  effortEach,
}: {
  changes: BodyChange[]
  effortEach: number
}): Pick<BodyPlan, 'edits' | 'body'>[] {
  return changes.map((change) => {
    const { edits, body } = planBody(change, { left: effortEach })
    return { edits, body }
  })
}
