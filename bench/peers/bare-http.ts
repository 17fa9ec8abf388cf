// Node's own HTTP server: reads a request to its end and sends bytes that it was given. No server on it can be quicker.
import { createServer } from 'node:http';
import { answerTo } from '../tell.ts';
import { listen } from './listen.ts';

let body = Buffer.from('{}');
let headers = { 'content-type': 'application/json', 'content-length': body.length };
const etag = '"same"';

answerTo('send', (text: string) => {
  body = Buffer.from(text);
  headers = { ...headers, 'content-length': body.length };
});

listen(
  createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isKnown = request.headers['if-none-match'] === etag;
      // What is not asked for by GET is answered without a tag, as the servers that are measured do.
      if (isKnown) response.writeHead(304, { etag });
      else response.writeHead(200, request.method === 'GET' ? { ...headers, etag } : headers);
      response.end(isKnown ? undefined : body);
    });
  }),
);
