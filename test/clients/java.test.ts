import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { startGatewayForTest } from '../support/gateway.ts';

const hasJava = spawnSync('javac', ['--version']).status === 0;

/** Sends requests as Java's client does by default: over plain HTTP each asks for HTTP/2 with `Upgrade: h2c`. */
const CLIENT = `
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

class Client {
  public static void main(String[] urls) throws Exception {
    var client = HttpClient.newHttpClient();
    var body = "{\\"query\\":\\"{ beaconHeight }\\"}";
    var post = HttpRequest.newBuilder(URI.create(urls[0])).header("content-type", "application/json");
    for (int n = 0; n < 2; n++) print(client.send(post.POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString()));
    print(client.send(HttpRequest.newBuilder(URI.create(urls[1])).build(), BodyHandlers.ofString()));
  }

  static void print(HttpResponse<String> response) {
    System.out.println(response.version() + " " + response.statusCode() + " " + response.body().strip());
  }
}
`;

// Java compiles the program when it starts it.
test.skipIf(!hasJava)(
  "Java's HttpClient gets answers, by GET and by POST (skipped where javac is missing)",
  async () => {
    const { app, sandbox } = await startGatewayForTest();
    const url = await app.listen(0, '127.0.0.1');
    const folder = mkdtempSync(join(tmpdir(), 'pdex-java-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'Client.java');
    writeFileSync(file, CLIENT);
    const { stdout } = await promisify(execFile)('java', [file, url, new URL('/health', url).href]);
    const answer = `HTTP_1_1 200 {"data":{"beaconHeight":${sandbox.chain.tip.height}}}`;
    expect(stdout.trim().split('\n')).toEqual([answer, answer, 'HTTP_1_1 200 {"status":"ok"}']);
  },
);
