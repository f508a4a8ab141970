/** Where the API is, below the service's URL. */
export const apiRoot = '/api/v1'
