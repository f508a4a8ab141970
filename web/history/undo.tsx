/** Undoes one entry of the history. It shows first what would be undone, and what would not. */
import type { ReactNode } from 'react'
import { useAction } from '../controls/ask.tsx'
import { Shown } from '../controls/loading.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { request } from '../service/request.ts'
import { doingOf, reasonOf, type HistoryEntry } from './changes.ts'
import { Step } from './step.tsx'

interface UndoProps {
  boardId: string
  entry: HistoryEntry
  titleOf(id: string): string
  back(): void
  done(): Promise<void>
}

export function Undo({ boardId, entry, titleOf, back, done }: UndoProps): ReactNode {
  const { run, isBusy, fault } = useAction()
  const undo = (dry: boolean) =>
    request('POST /boards/{id}/undo', {
      path: { id: boardId },
      body: { ...selectionOf(entry), dry_run: dry },
    })
  const preview = useLoaded(String(entry.position), () => undo(true))
  const nameOf = ({ type, id }: { type: 'card' | 'group'; id: string }) =>
    type === 'card' ? titleOf(id) : 'A group'
  return (
    <Step title="Undo this change" back={back}>
      <p>{entry.summary}</p>
      <Shown of={preview}>
        {({ undone, not_undone: left }) => (
          <>
            {undone.length === 0 && <p>Nothing of it can be undone any more.</p>}
            <ul className="rows" aria-label="What is undone">
              {undone.map((change) => (
                <li key={change.id}>
                  <strong>{nameOf(change)}</strong> <span className="quiet">{doingOf(change)}</span>
                </li>
              ))}
              {left.map((one) => (
                <li key={`${one.id} ${one.reason}`}>
                  <strong>{nameOf(one)}</strong> <span className="quiet">stays: {reasonOf(one)}</span>
                </li>
              ))}
            </ul>
            {fault !== null && (
              <p className="fault" role="alert">
                {fault}
              </p>
            )}
            {undone.length > 0 && (
              <button
                type="button"
                className="main"
                disabled={isBusy}
                onClick={() =>
                  void run(async () => {
                    await undo(false)
                    await done()
                  })
                }
              >
                Undo it
              </button>
            )}
          </>
        )}
      </Shown>
    </Step>
  )
}

/** Edits of a canvas have no operation: they are found by who made them, and when. */
const selectionOf = ({ operation_id: operation, actors, began_at: since, at: until }: HistoryEntry) =>
  operation === null ? { actor: actors[0]!.user_id, since, until } : { operation_id: operation }
