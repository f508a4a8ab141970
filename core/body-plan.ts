/** How the body of a card becomes what a client wrote. */
import type { Effort } from './shortest-edit.ts'
import { applyEdits, diffText, mergeText, type TextEdit } from './text-merge.ts'

export interface BodyChange {
  /** The text that is on the board. */
  current: string
  wanted: string
  /** The text that the client's edit started from, when it says so. */
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

/** Each with an effort of its own. The texts are in the changes: of a plan only the rest is returned. */
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
