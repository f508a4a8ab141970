/** The guest links of a board: whoever has one opens the board without an account. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import { Ask } from '../controls/ask.tsx'
import { Check, Choice, Field, Form, written } from '../controls/form.tsx'
import { Shown } from '../controls/loading.tsx'
import { Once } from '../controls/once.tsx'
import { roles, type Role } from '../controls/people.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { When } from '../controls/when.tsx'
import { ignoreGone, readAll, request } from '../service/request.ts'
import type { SharedBoard } from './shared-board.ts'

type GuestLink = Row<'GET /boards/{id}/links'>

export function GuestLinks({ boardId }: SharedBoard): ReactNode {
  const links = useLoaded(boardId, () => readAll('GET /boards/{id}/links', { path: { id: boardId } }))
  return (
    <section>
      <h3>Guest links</h3>
      <p className="quiet">Whoever has a guest link opens this board with a name, and without an account.</p>
      <NewLink boardId={boardId} reload={links.reload} />
      <Shown of={links}>
        {(rows) =>
          rows.length > 0 && (
            <ul className="rows" aria-label="Guest links">
              {rows.map((link) => (
                <LinkRow key={link.id} {...{ link, reload: links.reload }} />
              ))}
            </ul>
          )
        }
      </Shown>
    </section>
  )
}

const lifetimes = { '1': 'A day', '7': 'A week', '30': 'A month', '': 'Until you revoke it' }
const dayMs = 86_400_000

function NewLink({ boardId, reload }: { boardId: string; reload(): Promise<void> }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const [url, setUrl] = useState<string | null>(null)
  const send = async (values: FormData) => {
    const days = Number(written(values, 'expires_at') ?? 0)
    const body = {
      role: values.get('role') as Role,
      name: written(values, 'name'),
      password: written(values, 'password'),
      history: values.has('history'),
      ...(days > 0 ? { expires_at: new Date(Date.now() + days * dayMs).toISOString() } : {}),
    }
    const { token } = await request('POST /boards/{id}/links', { path: { id: boardId }, body })
    setUrl(`${location.origin}/app/open#${token}`)
    setOpen(false)
    await reload()
  }
  const close = () => {
    setUrl(null)
    // Somebody may have used it meanwhile.
    void reload()
  }
  if (url !== null)
    return (
      <Once label="Guest link" value={url} close={close}>
        Copy this link now. It is not shown again.
      </Once>
    )
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        New guest link
      </button>
    )
  return (
    <Form label="New guest link" submit="Create link" send={send} cancel={() => setOpen(false)}>
      <Field
        label="Name, for you"
        name="name"
        maxLength={200}
        placeholder="Such as: review with the printers"
        autoFocus
      />
      <Choice label="Guests are" name="role" options={{ viewer: 'Viewers', editor: 'Editors' }} />
      <Choice label="It works for" name="expires_at" options={lifetimes} defaultValue="7" />
      <Field
        label="Password"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={8}
        maxLength={200}
        note="8 characters or more. Leave it empty for a link without one."
      />
      <Check label="Also show the history of the board, from now on" name="history" />
    </Form>
  )
}

function LinkRow({ link, reload }: { link: GuestLink; reload(): Promise<void> }): ReactNode {
  const { id, board_id: boardId, role, uses, expires_at: end, last_used_at: last } = link
  const name = link.name ?? 'Link without a name'
  return (
    <li>
      <div className="person">
        <strong>{name}</strong>
        <span className="quiet">
          {roles[role]}
          {link.has_password && ', with a password'}
          {link.history_since !== null && ', with history'}
          {end === null ? '' : ', until '}
          {end !== null && <When at={end} as="date" />}
        </span>
      </div>
      <span className="quiet">
        {uses === 0 ? 'No guest yet' : `${uses} ${uses === 1 ? 'guest' : 'guests'}, the last one `}
        {last !== null && <When at={last} />}
      </span>
      <Ask
        label="Revoke"
        name={`Revoke ${name}`}
        question="Revoke this link? Its guests lose the board at once."
        confirm="Revoke"
        act={async () => {
          await request('DELETE /boards/{id}/links/{linkId}', { path: { id: boardId, linkId: id } }).catch(
            ignoreGone,
          )
          await reload()
        }}
      />
    </li>
  )
}
