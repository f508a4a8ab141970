/** A part of the app that is loaded when it is opened. */
import { Component, Suspense, type ReactNode } from 'react'

interface LaterProps {
  children: ReactNode
}

export class Later extends Component<LaterProps, { hasFailed: boolean }> {
  override state = { hasFailed: false }

  static getDerivedStateFromError() {
    return { hasFailed: true }
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return <Suspense>{this.props.children}</Suspense>
    return (
      <div className="banner">
        <p role="alert">This part of the app could not be loaded. Check the network, and reload the page.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    )
  }
}
