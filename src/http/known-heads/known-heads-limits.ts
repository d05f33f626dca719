// How much is kept of requests and answers that are known: 16 MiB of answers at most in
// each process.

/** Heads that are known; a client sends one for each page that it shows. */
export const FORMS = 250
/** A larger answer takes longer to send than to find. */
export const BODY_BYTES = 64 * 1024
/** As programs send them. */
export const HEAD_BYTES = 4 * 1024
/** A connection is no longer looked at after so many heads in a row that are not known. */
export const STRANGE_HEADS = 64
