import { type CancellationToken, LSPErrorCodes, ResponseError } from 'vscode-languageserver/node'

/** A request that the editor gives up is answered at once; what was compiled for it is good for the next one. */
export function cancellable<P, R>(
  answer: (params: P) => Promise<R>,
): (params: P, token: CancellationToken) => Promise<R> {
  return async (params, token) => {
    // A token that was cancelled before tells nobody.
    if (token.isCancellationRequested) throw givenUp()
    return await new Promise((resolve, reject) => {
      const waiting = token.onCancellationRequested(() => reject(givenUp()))
      answer(params)
        .then(resolve, reject)
        .finally(() => waiting.dispose())
    })
  }
}

const givenUp = () => new ResponseError(LSPErrorCodes.RequestCancelled, 'given up by the editor')
