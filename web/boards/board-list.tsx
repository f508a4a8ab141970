/** The boards as trees, and the ways to the search, the trash and the notifications. */
import { useState, type DragEvent, type ReactNode } from 'react'
import { Shown } from '../controls/loading.tsx'
import type { Workspace } from '../service/boards.ts'
import { BoardLink } from './board-row.tsx'
import { boardType, BoardTree } from './board-tree.tsx'
import { useDesk, type Desk } from './desk.ts'
import { NewBoard } from './new-board.tsx'
import { PeopleHere } from './people-here.tsx'
import { showSearch } from './show-search.ts'
import { useActions } from './use-actions.ts'
import { unreadCount } from './use-notifications.ts'
import type { LivePlaces } from './use-places.ts'

const showTrash = ({ show }: Desk) => show(async () => (await import('./panels/trash.tsx')).Trash)
const showNotifications = ({ show }: Desk) =>
  show(async () => (await import('./panels/notification-list.tsx')).NotificationList)

export function BoardList({ fault, reload }: Pick<LivePlaces, 'fault' | 'reload'>): ReactNode {
  const desk = useDesk()
  const { places } = desk
  return (
    <>
      <button type="button" className="find" aria-keyshortcuts="Control+K" onClick={() => showSearch(desk)}>
        Search <kbd aria-hidden="true">Ctrl-K</kbd>
      </button>
      <Bell />
      <Shown of={{ value: places, fault, reload }}>
        {({ workspaces, shared }) => (
          <>
            {workspaces.map((workspace) => (
              <WorkspaceSection key={workspace.id} workspace={workspace} />
            ))}
            {shared.length > 0 && (
              <section>
                <h2>Shared with you</h2>
                <ul>
                  {shared.map((board) => (
                    <li key={board.id}>
                      <BoardLink {...{ board, desk }} />
                      <PeopleHere boardId={board.id} />
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </>
        )}
      </Shown>
      <p className="more">
        <button type="button" className="link" onClick={() => showTrash(desk)}>
          Trash
        </button>
        <a href="/settings">Your account</a> <a href="/docs">API reference</a>
      </p>
    </>
  )
}

function Bell(): ReactNode {
  const desk = useDesk()
  const unread = unreadCount(desk.notifications)
  return (
    <button type="button" className="bell" onClick={() => showNotifications(desk)}>
      <svg viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
        <path
          d="M4 14.5h12l-1.4-2V8.6a4.6 4.6 0 0 0-9.2 0v3.9L4 14.5Zm4.2 1.6a1.9 1.9 0 0 0 3.6 0"
          fill="none"
          stroke="currentColor"
          strokeWidth="1.5"
          strokeLinejoin="round"
        />
      </svg>
      <span className="hidden">Notifications{unread && `, ${unread} unread`}</span>
      {unread && <span aria-hidden="true">{unread}</span>}
    </button>
  )
}

function WorkspaceSection({ workspace }: { workspace: Workspace }): ReactNode {
  return (
    <section>
      <Heading workspace={workspace} />
      <SettingsLink workspace={workspace} />
      <BoardTree workspace={workspace} />
      {workspace.canWrite && <NewBoard workspace={workspace} />}
    </section>
  )
}

function SettingsLink({ workspace: { id, name } }: { workspace: Workspace }): ReactNode {
  const { settingsOf, follow } = useDesk()
  const address = settingsOf(id)
  return (
    <a className="to-settings" href={address} onClick={follow(address)} aria-label={`Settings of ${name}`}>
      Settings
    </a>
  )
}

/** A board that is dropped on the name of its workspace goes to the top level. */
function Heading({ workspace }: { workspace: Workspace }): ReactNode {
  const actions = useActions(workspace)
  const [isTarget, setTarget] = useState(false)
  const type = boardType(workspace.id)
  const take = (event: DragEvent) => {
    if (!event.dataTransfer.types.includes(type)) return
    event.preventDefault()
    setTarget(true)
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setTarget(false)
    const dropped = event.dataTransfer.getData(type)
    const board = workspace.boards.find(({ id }) => id === dropped)
    if (board && board.parent_board_id !== null) void actions.move(board, null)
  }
  return (
    <h2
      className={isTarget ? 'target' : undefined}
      onDragOver={take}
      onDragLeave={() => setTarget(false)}
      onDrop={drop}
    >
      {workspace.name}
    </h2>
  )
}
