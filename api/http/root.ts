/** The path of the API, relative to the service's URL. */
export const apiRoot = '/api/v1'
