import { openEditors, type EditorSocket } from './editor.ts'
import type { HoldJob } from './jobs.ts'

export let held: EditorSocket[] = []
let lost: Error | null = null

export async function hold(job: HoldJob): Promise<null> {
  const editors = await openEditors(job.server, job.boards, job.editorsPerBoard)
  for (const editor of editors) editor.onFailure = (error) => (lost ??= error)
  held.push(...editors)
  return null
}

/** Closes all held editors. Throws when the server has closed one of them. */
export async function release(): Promise<null> {
  for (const editor of held) editor.close()
  held = []
  const error = lost
  lost = null
  if (error) throw new Error('an idle editor was cut off', { cause: error })
  return null
}
