import { ApiClient } from './api.ts'
import { editStream } from './edits.ts'
import { openEditor, type EditorSocket } from './editor.ts'
import type { Jobs, ScreenJob } from './jobs.ts'
import { Latencies } from './latencies.ts'

const seenWithinMs = 10_000

/**
 * Measures the time from sending a change until another editor's socket receives it, one change at a time. The first
 * tenth is warm-up.
 */
export async function screen(job: ScreenJob): Promise<Jobs['screen']['result']> {
  const viewer = await openEditor(job.viewer ?? job.server, job.board)
  const source = job.api ? apiSource(job.api, job.board) : await editorSource(job)
  const latencies = new Latencies()
  const warmUp = Math.ceil(job.count / 10)
  try {
    for (let turn = -warmUp; turn < job.count; turn++) {
      const seen = nextUpdate(viewer)
      const sentMs = performance.now()
      const [seenMs] = await Promise.all([seen, source.change(turn + warmUp)])
      if (turn >= 0) latencies.record(seenMs - sentMs)
    }
  } finally {
    viewer.close()
    await source.close()
  }
  return { p50Ms: latencies.percentile(0.5) }
}

interface ChangeSource {
  /** Resolves when the server has answered. */
  change(turn: number): Promise<void>
  close(): Promise<void>
}

function apiSource(api: NonNullable<ScreenJob['api']>, board: string): ChangeSource {
  const client = new ApiClient(api, 1)
  return {
    change: (turn) => client.send({ method: 'POST', path: `/boards/${board}/cards`, cards: 1 }, turn),
    close: () => client.close(),
  }
}

async function editorSource(job: ScreenJob): Promise<ChangeSource> {
  const editor = await openEditor(job.server, job.board)
  return {
    change: async (turn) => {
      const answered = Promise.withResolvers<void>()
      editor.onAcknowledged = answered.resolve
      editor.onFailure = answered.reject
      editor.sendUpdate(editStream(0).at(turn).update)
      await answered.promise
    },
    close: async () => editor.close(),
  }
}

/** Resolves with the time at which the editor receives its next update. */
function nextUpdate(editor: EditorSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`a change did not arrive within ${seenWithinMs / 1_000} s`)),
      seenWithinMs,
    )
    const settle = () => {
      clearTimeout(timer)
      editor.onUpdate = null
    }
    editor.onUpdate = () => {
      settle()
      resolve(performance.now())
    }
    editor.onFailure = (error) => {
      settle()
      reject(error)
    }
  })
}
