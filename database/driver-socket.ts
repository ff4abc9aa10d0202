/**
 * A correction of the driver. Before it writes a command it makes the command's bytes, which takes a turn of the event
 * loop; when the socket is destroyed within that turn it waits for the socket's `drain` without an end, and the request
 * is never answered. Here the wait ends with the socket.
 */
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import mongoose from 'mongoose';

/** What is touched of the driver's own class; it is not exported by the package's entry. */
interface Connection {
  readonly socket: Socket;
  writeCommand: (this: Connection, ...command: unknown[]) => Promise<void>;
}

const requireOfMongoose = createRequire(createRequire(import.meta.url).resolve('mongoose'));
const { prototype } = (
  requireOfMongoose('mongodb/lib/cmap/connection.js') as { Connection: { prototype: Connection } }
).Connection;
const isCorrected = Symbol.for('everchart.driver-socket');

/** Corrects the driver that mongoose uses, once for the process. */
export function correctDriver(): void {
  if (isCorrected in prototype) return;
  const { writeCommand } = prototype;
  const corrected = async function (this: Connection, ...command: unknown[]): Promise<void> {
    const { socket } = this;
    let end = (): void => undefined;
    const ended = new Promise<never>((_, reject) => {
      end = () => {
        reject(new mongoose.mongo.MongoNetworkError('the connection closed before the command was written'));
      };
    });
    socket.once('close', end);
    if (socket.closed) end();
    try {
      await Promise.race([writeCommand.apply(this, command), ended]);
    } finally {
      socket.off('close', end);
    }
  };
  Object.assign(prototype, { writeCommand: corrected, [isCorrected]: true });
}
