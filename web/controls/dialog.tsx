/**
 * A dialog over the page. Escape, its button, and a click beside it close it. The focus stays in it, and goes back. While
 * it shows something once, a click beside it does nothing.
 */
import { useEffect, useLayoutEffect, useRef, type MouseEvent, type ReactNode } from 'react'

interface DialogProps {
  title: string
  className?: string
  close(): void
  children: ReactNode
}

export function Dialog({ title, className = '', close, children }: DialogProps): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const shown = dialog.current!
    shown.showModal()
    shown.querySelector('input')?.focus() // the browser has chosen the first button
    return () => shown.close() // while it is in the page, so that the focus goes back
  }, [])
  // Also when what had the focus is gone, which the browser's own handling does not do.
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && close()
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [close])
  return (
    <dialog
      ref={dialog}
      className={`panel ${className}`}
      aria-label={title}
      onCancel={(event) => {
        if (event.target !== event.currentTarget) return // the choice of a file
        event.preventDefault()
        close()
      }}
      // The browser may close it without asking.
      onClose={close}
      onMouseDown={(event) => isBeside(event) && close()}
      // Keys of the page, such as those for undo, are not for what is written here.
      onKeyDown={(event) => event.stopPropagation()}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" className="plain" onClick={close}>
          Close
        </button>
      </header>
      {children}
    </dialog>
  )
}

/** Whether a press is outside of the dialog, on what it covers, and may close it. */
function isBeside({ target, currentTarget, clientX: x, clientY: y }: MouseEvent): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect()
  const isOutside = target === currentTarget && (x < left || x > right || y < top || y > bottom)
  return isOutside && currentTarget.querySelector('.once') === null
}
