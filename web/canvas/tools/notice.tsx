/** A line above the canvas, with one button. */
import type { ReactNode } from 'react'
import { Panel } from '@xyflow/react'

interface NoticeProps {
  says: string
  button: string
  isAlert?: boolean
  close(): void
}

export const Notice = ({ says, button, isAlert = false, close }: NoticeProps): ReactNode => (
  <Panel position="bottom-center" className="canvas-notice">
    <p role={isAlert ? 'alert' : 'status'}>{says}</p>
    <button type="button" className="plain" onClick={close}>
      {button}
    </button>
  </Panel>
)
