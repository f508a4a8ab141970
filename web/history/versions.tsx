/** Named versions of a board: makes, shows, renames and deletes them. */
import { useState, type ReactNode } from 'react'
import type { Row } from '../../client/operations.ts'
import type { OpenBoard } from '../../client/editor/index.ts'
import { allSaved } from '../board/all-saved.ts'
import { Ask } from '../controls/ask.tsx'
import { Field, Form, written } from '../controls/form.tsx'
import { Shown } from '../controls/loading.tsx'
import { nameOf } from '../controls/people.tsx'
import { useLoaded } from '../controls/use-loaded.ts'
import { timeText, When } from '../controls/when.tsx'
import { ignoreGone, readAll, request } from '../service/request.ts'
import type { Moment } from './moment.ts'
import { Step } from './step.tsx'

type Version = Row<'GET /boards/{id}/versions'>

interface VersionsProps {
  boardId: string
  moment: Moment | null
  setMoment(moment: Moment): void
  canWrite: boolean
}

export function Versions({ boardId, moment, setMoment, canWrite }: VersionsProps): ReactNode {
  const versions = useLoaded(boardId, () => readAll('GET /boards/{id}/versions', { path: { id: boardId } }))
  return (
    <Shown of={versions}>
      {(rows) =>
        rows.length === 0 ? (
          <p className="quiet">
            No version has a name yet. A named version is kept until it is deleted, however old it is.
          </p>
        ) : (
          <ol className="past-entries">
            {rows.map((version) => (
              <VersionRow
                key={version.id}
                {...{ version, canWrite, reload: versions.reload }}
                isShown={moment?.asOf === version.id}
                show={() => setMoment({ asOf: version.id, at: version.at, name: version.name })}
              />
            ))}
          </ol>
        )
      }
    </Shown>
  )
}

interface VersionRowProps {
  version: Version
  isShown: boolean
  canWrite: boolean
  show(): void
  reload(): Promise<void>
}

function VersionRow({ version, isShown, canWrite, show, reload }: VersionRowProps): ReactNode {
  const { id, board_id: boardId, name, at, created_by: by } = version
  const [isRenaming, setRenaming] = useState(false)
  const path = { id: boardId, versionId: id }
  const rename = async (values: FormData) => {
    const body = { name: written(values, 'name') ?? '' }
    await request('PATCH /boards/{id}/versions/{versionId}', { path, body })
    setRenaming(false)
    await reload()
  }
  return (
    <li aria-current={isShown ? 'true' : undefined}>
      <button type="button" className="past-entry" onClick={show}>
        <strong>{name}</strong>
        <span className="quiet">
          <span>
            <When at={at} />, named by {nameOf(by)}
          </span>
        </span>
      </button>
      {isRenaming && (
        <Form label={`Rename ${name}`} submit="Rename" send={rename} cancel={() => setRenaming(false)}>
          <Field label="Name" name="name" defaultValue={name} maxLength={200} required autoFocus />
        </Form>
      )}
      {isShown && canWrite && !isRenaming && (
        <div className="button-row">
          <button type="button" className="plain" onClick={() => setRenaming(true)}>
            Rename
          </button>
          <Ask
            label="Delete"
            name={`Delete ${name}`}
            question="Delete this version? The moment is then kept as long as the rest of the history."
            confirm="Delete"
            act={async () => {
              await request('DELETE /boards/{id}/versions/{versionId}', { path }).catch(ignoreGone)
              await reload()
            }}
          />
        </div>
      )}
    </li>
  )
}

interface NameVersionProps {
  boardId: string
  live: OpenBoard
  /** Null: the present. */
  moment: Moment | null
  close(): void
  done(): void
}

export function NameVersion({ boardId, live, moment, close, done }: NameVersionProps): ReactNode {
  const send = async (values: FormData) => {
    // The service gives a name to what it has.
    if (!moment) await allSaved(live)
    const body = { name: written(values, 'name') ?? '', ...(moment ? { as_of: moment.asOf } : {}) }
    await request('POST /boards/{id}/versions', { path: { id: boardId }, body })
    done()
  }
  return (
    <Step title={moment ? `Name ${timeText(moment.at)}` : 'Name the board as it is now'} back={close}>
      <Form label="Name the version" submit="Name it" send={send} cancel={close}>
        <Field
          label="Name"
          name="name"
          maxLength={200}
          placeholder="Such as: approved by the client"
          required
        />
      </Form>
    </Step>
  )
}
