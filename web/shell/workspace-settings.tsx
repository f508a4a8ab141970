/** The page of a workspace's settings. What it shows is loaded with its first opening. */
import { useEffect, useState, type ReactNode } from 'react'
import { readWorkspaces, type Workspace } from '../service/api.ts'
import { signIn, SignedOut } from '../service/token.ts'
import { Later, part } from '../controls/later.tsx'

const SettingsPage = part(async () => (await import('../settings/settings-page.tsx')).default)

interface WorkspaceSettingsProps {
  workspaceId: string
  isListOpen: boolean
  toggleList(): void
}

export function WorkspaceSettings({ workspaceId, ...listButton }: WorkspaceSettingsProps): ReactNode {
  const [workspaces, setWorkspaces] = useState<Workspace[] | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  useEffect(() => {
    readWorkspaces().then(setWorkspaces, (error: Error) => {
      if (error instanceof SignedOut) signIn()
      else setFault(error.message)
    })
  }, [workspaceId])
  const workspace = workspaces?.find(({ id }) => id === workspaceId)
  useEffect(() => {
    if (workspace) document.title = `Settings of ${workspace.name} · Corkboard`
  }, [workspace])
  if (workspace)
    return (
      <Later>
        <SettingsPage workspace={workspace} {...listButton} />
      </Later>
    )
  return (
    <main className="message">
      {fault === null && workspaces === null && <p role="status">Opening…</p>}
      {fault !== null && <p role="alert">{fault}</p>}
      {workspaces !== null && (
        <p role="alert">This workspace does not exist, or you are not a member of it.</p>
      )}
    </main>
  )
}
