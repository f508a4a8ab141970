/** The keys of the canvas. */
import type { ReactNode } from 'react'
import { Dialog } from '../../controls/dialog.tsx'
import { keys } from './use-keys.ts'

export const KeyHelp = ({ close }: { close(): void }): ReactNode => (
  <Dialog title="Keys" className="key-help nowheel nopan" close={close}>
    <dl>
      {keys.map(({ keys: names, does }) => (
        <div key={does}>
          <dt>
            {names.map((name) => (
              <kbd key={name}>{name}</kbd>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
)
