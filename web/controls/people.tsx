/** People in lists, and their roles. */
import type { ReactNode } from 'react'

interface Named {
  display_name?: string | null
  email?: string
}

export const nameOf = ({ display_name: name, email }: Named): string => name ?? email ?? 'A deleted account'

export const roles = { editor: 'Editor', viewer: 'Viewer' } as const
export type Role = keyof typeof roles
export const roleNotes = 'Editors change what is there. Viewers read it.'

export function Person({ of }: { of: Named }): ReactNode {
  return (
    <div className="person">
      <strong>{nameOf(of)}</strong>
      {of.display_name && of.email && <span className="quiet">{of.email}</span>}
    </div>
  )
}

interface RolePickerProps {
  /** Whose role it is. */
  of: string
  role: Role
  change(role: Role): void
}

export function RolePicker({ of, role, change }: RolePickerProps): ReactNode {
  return (
    <select aria-label={`Role of ${of}`} value={role} onChange={({ target }) => change(target.value as Role)}>
      {Object.entries(roles).map(([value, says]) => (
        <option key={value} value={value}>
          {says}
        </option>
      ))}
    </select>
  )
}
