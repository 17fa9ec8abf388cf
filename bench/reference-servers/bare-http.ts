// Node's own HTTP server: reads the complete request and sends bytes that it got from the bench. No server on it can be faster.
import { createServer } from 'node:http';
import { handleCall } from '../process-control.ts';
import { listen } from './listen.ts';

let body = Buffer.from('{}');
let headers = { 'content-type': 'application/json', 'content-length': body.length };
const etag = '"same"';

handleCall('send', (text: string) => {
  body = Buffer.from(text);
  headers = { ...headers, 'content-length': body.length };
});

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isCurrent = request.headers['if-none-match'] === etag;
      // Only a response to GET has an ETag, as those of the gateway.
      if (isCurrent) response.writeHead(304, { etag });
      else response.writeHead(200, request.method === 'GET' ? { ...headers, etag } : headers);
      response.end(isCurrent ? undefined : body);
    });
  }),
);
