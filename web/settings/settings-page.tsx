/** The settings of a workspace. Each section has its own file. What the role may not do is not offered. */
import { useSyncExternalStore, type ReactNode } from 'react'
import { Leave, Members } from '../people/members.tsx'
import type { Workspace } from '../service/api.ts'
import { Audit } from './audit.tsx'
import { ServiceAccounts } from './service-accounts.tsx'
import { Storage } from './storage.tsx'
import { Webhooks } from './webhooks.tsx'

type Shown = Pick<Workspace, 'id' | 'name' | 'role'>

interface Section {
  title: string
  for: Shown['role'][]
  show(workspace: Shown): ReactNode
}

const sections: Record<string, Section> = {
  members: {
    title: 'Members',
    for: ['owner', 'editor', 'viewer'],
    show: ({ id, role }) =>
      role === 'owner' ? <Members workspaceId={id} /> : <Leave workspaceId={id} role={role} />,
  },
  'service-accounts': {
    title: 'Service accounts',
    for: ['owner'],
    show: ({ id }) => <ServiceAccounts workspaceId={id} />,
  },
  webhooks: {
    title: 'Webhooks',
    for: ['owner', 'editor'],
    show: ({ id }) => <Webhooks workspaceId={id} />,
  },
  storage: { title: 'Storage', for: ['owner'], show: () => <Storage /> },
  audit: {
    title: 'Audit',
    for: ['owner', 'editor', 'viewer'],
    show: ({ id, role }) => <Audit workspaceId={id} isOwner={role === 'owner'} />,
  },
}

interface SettingsPageProps {
  workspace: Shown
  isListOpen: boolean
  toggleList(): void
}

export default function SettingsPage({ workspace, isListOpen, toggleList }: SettingsPageProps): ReactNode {
  const open = Object.entries(sections).filter(([, section]) => section.for.includes(workspace.role))
  const wanted = useSyncExternalStore(subscribe, () => location.hash.slice(1))
  const [name, section] = open.find(([one]) => one === wanted) ?? open[0]!
  return (
    <main className="settings">
      <header>
        <button
          type="button"
          className="plain narrow-only"
          aria-expanded={isListOpen}
          aria-controls="boards"
          onClick={toggleList}
        >
          Boards
        </button>
        <h1>{workspace.name}</h1>
      </header>
      <nav aria-label="Settings of the workspace">
        {open.map(([one, { title }]) => (
          <a key={one} href={`#${one}`} aria-current={one === name ? 'page' : undefined}>
            {title}
          </a>
        ))}
      </nav>
      <section key={`${workspace.id} ${name}`} aria-labelledby="section-title">
        <h2 id="section-title">{section.title}</h2>
        {section.show(workspace)}
      </section>
    </main>
  )
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener)
  return () => removeEventListener('hashchange', listener)
}
