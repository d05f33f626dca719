import { createLogger, type Logger } from '../../src/core/logger.ts'

export const silentLogger: Logger = createLogger(() => {}, 'error')
