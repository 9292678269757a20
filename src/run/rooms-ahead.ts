/** Rooms laid out ahead, for a process that serves one command after another. */

export { keepRoomsAhead, layOutRoomAhead, secondsAhead } from '../sandbox/bwrap/launch-ahead.ts'
