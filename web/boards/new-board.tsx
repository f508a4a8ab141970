/** A form that creates a board. */
import { useRef, useState, type FormEvent, type ReactNode } from 'react'
import type { Workspace } from '../service/boards.ts'
import { useDesk } from './desk.ts'
import { useActions } from './use-actions.ts'

export function NewBoard({ workspace }: { workspace: Workspace }): ReactNode {
  const { open } = useDesk()
  const actions = useActions(workspace)
  const [name, setName] = useState('')
  const isBusy = useRef(false)
  const create = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy.current) return
    isBusy.current = true
    const made = await actions.create(name.trim(), null)
    isBusy.current = false
    if (!made) return
    setName('')
    open(made.id)
  }
  return (
    <form onSubmit={(event) => void create(event)}>
      <input
        aria-label={`Name of a new board in ${workspace.name}`}
        placeholder="New board"
        maxLength={200}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" disabled={name.trim() === ''}>
        Create
      </button>
    </form>
  )
}
