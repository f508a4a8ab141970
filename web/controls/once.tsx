/** Something secret that is shown once, to be copied. */
import { useEffect, useId, useRef, useState, type ReactNode } from 'react'

interface OnceProps {
  /** What it is, such as `Link`. */
  label: string
  value: string
  /** What to do with it. */
  children: ReactNode
  close(): void
}

export function Once({ label, value, children, close }: OnceProps): ReactNode {
  const [copied, setCopied] = useState<string | null>(null)
  const field = useRef<HTMLInputElement>(null)
  const id = useId()
  // The form that it came from may be gone, with the focus.
  useEffect(() => {
    if (!document.activeElement?.matches('button, input, select')) field.current!.focus()
  }, [])
  const copy = async () => {
    field.current!.select()
    // Browsers have no clipboard for pages by http, except on this machine. Then the text is selected.
    await navigator.clipboard?.writeText(value).then(
      () => setCopied(value),
      () => undefined,
    )
  }
  return (
    <div className="once">
      <p role="status">{children}</p>
      <label htmlFor={id}>{label}</label>
      <div className="button-row">
        <input ref={field} id={id} readOnly value={value} onFocus={({ target }) => target.select()} />
        <button type="button" className="main" onClick={() => void copy()}>
          {copied === value ? 'Copied' : 'Copy'}
        </button>
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
    </div>
  )
}
