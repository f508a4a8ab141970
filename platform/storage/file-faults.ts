import { ServiceError } from '../../core/errors.ts'
import { storeUnavailable } from './object-store.ts'

/** Turns file system errors into `storage_unavailable`. Errors of the request body are passed on. */
export async function faults<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { syscall = '' } = error as NodeJS.ErrnoException
    throw syscallsOnFiles.has(syscall) && !(error instanceof ServiceError) ? storeUnavailable(error) : error
  }
}

/** System calls on files. Errors of sockets name other calls. */
const syscallsOnFiles = new Set(
  'open write writev fsync fdatasync rename mkdir stat lstat scandir rm rmdir unlink close'.split(' '),
)
