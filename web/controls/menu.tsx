/** A menu of actions for one thing, which the arrow keys walk. Escape, Tab and a click beside it close it. */
import { useLayoutEffect, useRef, type KeyboardEvent, type ReactNode } from 'react'

export interface Action {
  label: string
  /** In the words of `aria-keyshortcuts`. */
  key?: string
  does(): void
}

/** A place in pixels of the window. */
export type At = [x: number, y: number]

interface MenuProps {
  /** The menu's name, for screen readers. */
  label: string
  actions: readonly Action[]
  at: At
  close(): void
}

export function ActionMenu({ label, actions, at: [left, top], close }: MenuProps): ReactNode {
  const menu = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    const shown = menu.current!
    shown.showPopover()
    keepInside(shown)
    items(shown)[0]!.focus()
    return () => shown.hidePopover() // while it is in the page, so that the focus goes back
  }, [])
  return (
    <div
      ref={menu}
      popover="auto"
      role="menu"
      className="menu"
      aria-label={label}
      style={{ left, top }}
      onKeyDown={(event) => onKey(event, close)}
      onToggle={({ newState }) => newState === 'closed' && close()}
    >
      {actions.map(({ label: says, key, does }) => (
        <button
          key={says}
          type="button"
          role="menuitem"
          tabIndex={-1}
          aria-keyshortcuts={key}
          onClick={() => {
            menu.current!.hidePopover()
            close()
            does()
          }}
        >
          {says}
          {key !== undefined && <kbd aria-hidden="true">{key.replace('Control+', 'Ctrl-')}</kbd>}
        </button>
      ))}
    </div>
  )
}

type Opening = Pick<MouseEvent, 'type' | 'clientX' | 'clientY'>

/** Where a menu is shown: at the pointer, or for the keyboard below what has the focus. */
export function placeFor({ type, clientX, clientY }: Opening, target: Element): At {
  const { left, bottom } = target.getBoundingClientRect()
  return type === 'contextmenu' && clientX > 0 ? [clientX, clientY] : [left, bottom]
}

const items = (menu: Element) => [...menu.querySelectorAll<HTMLElement>('[role="menuitem"]')]

function onKey(event: KeyboardEvent, close: () => void): void {
  // No key is for what is below the menu.
  event.stopPropagation()
  const all = items(event.currentTarget)
  const at = all.indexOf(event.target as HTMLElement)
  const steps: Record<string, number> = {
    ...{ ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 },
  }
  const step = steps[event.key]
  if (event.key === 'Tab') close()
  if (step === undefined) return
  event.preventDefault()
  all.at(step % all.length)!.focus()
}

/** Moves the menu up or to the left when it would end outside of the window. */
function keepInside(menu: HTMLElement): void {
  const { right, bottom } = menu.getBoundingClientRect()
  const margin = 8
  menu.style.translate = `${Math.min(0, innerWidth - margin - right)}px ${Math.min(0, innerHeight - margin - bottom)}px`
}
