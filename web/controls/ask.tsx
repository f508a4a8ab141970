/** A button for what can't be taken back: it asks once, and says what will happen. */
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { faultOf } from '../service/request.ts'

interface AskProps {
  /** What the button says. */
  label: string
  /** The button's name for screen readers, where the label alone does not say what it is about. */
  name?: string
  question: string
  /** What the button says that does it. */
  confirm: string
  act(): Promise<unknown>
}

export function Ask({ label, name, question, confirm, act }: AskProps): ReactNode {
  const [isAsking, setAsking] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const wasAsking = useRef(false)
  useEffect(() => {
    if (wasAsking.current && !isAsking) opener.current?.focus()
    wasAsking.current = isAsking
  }, [isAsking])
  if (!isAsking)
    return (
      <button ref={opener} type="button" className="plain" aria-label={name} onClick={() => setAsking(true)}>
        {label}
      </button>
    )
  return <Question {...{ question, confirm, act }} close={() => setAsking(false)} />
}

function Question({
  question,
  confirm,
  act,
  close,
}: Pick<AskProps, 'question' | 'confirm' | 'act'> & { close(): void }): ReactNode {
  const { run, isBusy, fault } = useAction()
  const first = useRef<HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  return (
    <div
      className="ask"
      role="group"
      aria-label={question}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        event.stopPropagation()
        close()
      }}
    >
      <p>{question}</p>
      <button
        ref={first}
        type="button"
        className="danger"
        aria-disabled={isBusy} // the focus would leave a button that is disabled
        onClick={() => void run(async () => act().then(close))}
      >
        {confirm}
      </button>
      <button type="button" onClick={close}>
        Cancel
      </button>
      {fault !== null && (
        <p className="fault" role="alert">
          {fault}
        </p>
      )}
    </div>
  )
}

/** Runs one thing at a time, and keeps why it failed. */
export function useAction(): {
  isBusy: boolean
  fault: string | null
  run(act: () => Promise<unknown>): Promise<void>
} {
  const [isBusy, setBusy] = useState(false)
  const [fault, setFault] = useState<string | null>(null)
  const run = async (act: () => Promise<unknown>) => {
    if (isBusy) return
    setBusy(true)
    setFault(null)
    try {
      await act()
    } catch (error) {
      setFault(faultOf(error))
    } finally {
      setBusy(false)
    }
  }
  return { isBusy, fault, run }
}
