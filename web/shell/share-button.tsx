/** Opens the share dialog of a board, for the owner of its workspace: nobody else may share it. */
import { useEffect, useState, type ReactNode } from 'react'
import { readOwnWorkspace } from '../service/api.ts'
import { Later, part } from '../controls/later.tsx'

const ShareDialog = part(async () => (await import('../people/share-dialog.tsx')).default)

export function ShareButton({ boardId, name }: { boardId: string; name: string }): ReactNode {
  const workspaceId = useOwnWorkspace(boardId)
  const [isOpen, setOpen] = useState(false)
  if (workspaceId === null) return null
  return (
    <>
      <button type="button" className="share" onClick={() => setOpen(true)}>
        Share
      </button>
      {isOpen && (
        <Later>
          <ShareDialog {...{ boardId, workspaceId, name }} close={() => setOpen(false)} />
        </Later>
      )}
    </>
  )
}

/** The id of the board's workspace. Null when the account does not own it, and until that is known. */
function useOwnWorkspace(boardId: string): string | null {
  const [id, setId] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    // Without an answer nothing is offered.
    readOwnWorkspace(boardId).then(
      (own) => isCurrent && setId(own),
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [boardId])
  return id
}
