// Ask a running service through OpenFeature's own clients for servers and for the web; print what they say as JSON.
import { OpenFeature as Server } from '@openfeature/server-sdk';
import { OFREPProvider } from '@openfeature/ofrep-provider';
import { OpenFeature as Web } from '@openfeature/web-sdk';
import { OFREPWebProvider } from '@openfeature/ofrep-web-provider';

const [baseUrl, key, missing, contextJson] = process.argv.slice(2);
const context = JSON.parse(contextJson);

await Server.setProviderAndWait(new OFREPProvider({ baseUrl }));
const server = Server.getClient();
const onServer = await server.getObjectDetails(key, {}, context);
const notThere = await server.getObjectDetails(missing, {}, context);

await Web.setContext(context);
const provider = new OFREPWebProvider({ baseUrl, pollInterval: 0, cacheMode: 'disabled' });
await Web.setProviderAndWait(provider);
const onWeb = Web.getClient().getObjectDetails(key, {});
await Web.setContext({ ...context, targetingKey: 'another-unit' });
const another = Web.getClient().getObjectDetails(key, {});

console.log(JSON.stringify({ onServer, notThere, onWeb, another }));
process.exit(0);
