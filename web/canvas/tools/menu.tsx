/** A button that opens a few choices. It closes when the focus leaves it, and by Escape. */
import { useRef, useState, type ReactNode } from 'react'

export function Menu({ label, children }: { label: string; children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  return (
    <div
      className="tool-menu"
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget)) setOpen(false)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return
        // It ends the menu, and not the selection.
        event.nativeEvent.preventDefault()
        setOpen(false)
        button.current?.focus()
      }}
    >
      <button ref={button} type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {label} <span aria-hidden="true">▾</span>
      </button>
      {isOpen && (
        <div className="tool-choices" tabIndex={-1}>
          {children}
        </div>
      )}
    </div>
  )
}
