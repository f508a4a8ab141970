/** The states of what is loaded: not yet, not at all, empty, here. */
import type { ReactNode } from 'react'
import type { Loaded } from './use-loaded.ts'
import type { Pages } from './use-pages.ts'

interface ShownProps<T> {
  of: Pick<Loaded<T>, 'value' | 'fault' | 'reload'>
  children: (value: T) => ReactNode
}

export function Shown<T>({ of: { value, fault, reload }, children }: ShownProps<T>): ReactNode {
  return (
    <>
      {fault !== null && <Failed fault={fault} again={reload} />}
      {value !== null && children(value)}
      {value === null && fault === null && (
        <p className="quiet" role="status">
          Loading…
        </p>
      )}
    </>
  )
}

export function Failed({ fault, again }: { fault: string; again(): Promise<void> }): ReactNode {
  return (
    <div className="load-failed">
      <p role="alert">{fault}</p>
      <button type="button" className="plain" onClick={() => void again()}>
        Try again
      </button>
    </div>
  )
}

export function More({ of: { hasMore, more }, label }: { of: Pages<unknown>; label: string }): ReactNode {
  return (
    hasMore && (
      <button type="button" className="more-rows" onClick={() => void more()}>
        {label}
      </button>
    )
  )
}
