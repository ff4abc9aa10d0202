export { };
export default async function () {}
