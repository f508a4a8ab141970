/** The drivers that the contract of object stores is held against. */
import { openDiskDriver, type StoreUnderTest } from './disk-driver.ts'

export interface Driver {
  name: string
  open(): Promise<StoreUnderTest>
}

export const drivers: Driver[] = [{ name: 'disk', open: openDiskDriver }]
