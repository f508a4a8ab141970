/** One step of the history panel, with the way back to the list. */
import { useEffect, useRef, type ReactNode } from 'react'

interface StepProps {
  title: string
  back(): void
  children: ReactNode
}

export function Step({ title, back, children }: StepProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [])
  return (
    <section className="step">
      <button type="button" className="plain" onClick={back}>
        Back to the list
      </button>
      <h3 ref={heading} tabIndex={-1}>
        {title}
      </h3>
      {children}
    </section>
  )
}
