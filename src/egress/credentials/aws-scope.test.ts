import { describe, expect, it } from 'vitest'
import { scopeProblem } from './aws-signature.ts'

describe('a signature goes to the host of its service and region', () => {
  it.each([
    ['sqs.eu-west-1.amazonaws.com', 'eu-west-1', 'sqs'],
    ['bucket.s3.eu-west-1.amazonaws.com', 'eu-west-1', 's3'],
    ['iam.s3.dualstack.eu-west-1.amazonaws.com', 'eu-west-1', 's3'],
    ['bucket.s3.amazonaws.com', 'us-east-1', 's3'],
    ['bucket.s3-us-west-2.amazonaws.com', 'us-west-2', 's3'],
    ['123.s3-control.eu-west-1.amazonaws.com', 'eu-west-1', 's3'],
    ['iam.amazonaws.com', 'us-east-1', 'iam'],
    ['api.ecr.eu-west-1.amazonaws.com', 'eu-west-1', 'ecr'],
    ['bedrock-runtime.us-gov-west-1.amazonaws.com', 'us-gov-west-1', 'bedrock'],
    ['email.eu-west-1.amazonaws.com', 'eu-west-1', 'ses'],
    ['runtime-v2-lex.eu-west-1.amazonaws.com', 'eu-west-1', 'lex'],
    ['metering.marketplace.eu-west-1.amazonaws.com', 'eu-west-1', 'aws-marketplace'],
    ['api.tunneling.iot.eu-west-1.amazonaws.com', 'eu-west-1', 'IoTSecuredTunneling'],
    ['search-x.eu-west-1.es.amazonaws.com', 'eu-west-1', 'es'],
    ['vpce-1.sqs.eu-west-1.vpce.amazonaws.com', 'eu-west-1', 'sqs'],
    ['memory-db.cn-north-1.amazonaws.com.cn', 'cn-north-1', 'memorydb'],
    ['xyz.lambda-url.eu-west-1.on.aws', 'eu-west-1', 'lambda'],
    ['123.ddb.eu-west-1.amazonaws.com', 'eu-west-1', 'dynamodb'],
    ['minio.example.org', 'us-east-1', 's3'],
  ])('%s for %s %s', (host, region, service) => expect(scopeProblem(host, region, service)).toBeNull())

  it.each([
    ['another service', 'bucket.s3.eu-west-1.amazonaws.com', 'eu-west-1', 'iam'],
    ['a bucket called like one', 'iam.s3.eu-west-1.amazonaws.com', 'eu-west-1', 'iam'],
    ['a bucket called like a service of several words', 'sts-x.s3.eu-west-1.amazonaws.com', 'eu-west-1', 'sts'],
    ['a gateway of anybody', 'abc.execute-api.eu-west-1.amazonaws.com', 'eu-west-1', 's3'],
    ['another region', 'sqs.eu-west-1.amazonaws.com', 'us-east-1', 'sqs'],
    ['a bucket called like a region', 'us-east-1.s3.eu-west-1.amazonaws.com', 'us-east-1', 's3'],
    ['a service that only begins so', 'iotsitewise.eu-west-1.amazonaws.com', 'eu-west-1', 'iot'],
    ['no service at all', 'eu-west-1.amazonaws.com', 'eu-west-1', 's3'],
  ])('not %s', (_, host, region, service) => expect(scopeProblem(host, region, service)).toMatch(/is signed for/))
})
