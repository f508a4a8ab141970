/** Whether uploads of an earlier page may wait on this device. Read before anything that uploads is loaded. */
export const mayHaveUploads = (): boolean => localStorage.getItem('corkboard: uploads') !== null
