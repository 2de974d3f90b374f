"""Names of services whose keys have no shape of their own: 32 hex digits, a UUID, 40 letters and digits.

Such a key is known by the name beside it: ``abuseipdb_key = …``, ``ABUSE-IPDB: …``. The names are lower-case and without separators:
compare them with a text's words once its case, ``_``, ``-``, ``.`` and blanks are folded away. These are what the services
call themselves.
"""

from __future__ import annotations

from tachograph.redact.words import table

#: Names that are no words of prose or code: a random value close to one is a secret.
SERVICE_NAMES = table(
    """
    abbysale abstractapi abuseipdb accuweather acledger actblue actionnetwork activecampaign acuityscheduling adafruit adafruitio adobe
    adroll adyen adzuna aerisweather aeroworkflow affinda affirm afterpay agilecrm agora aha ahrefs ai21 ai21labs ai21studio airbrake
    airbyte aircall airflow airly airnow airship airtable airvisual aiven akamai akeneo akismet akkio alchemy alchemyapi alconost alegra
    alephalpha aletheia aletheiaapi algolia alibaba alibabacloud alienvault aliyun allsports alltick alphavantage altcoinapi amadeus ambee
    amberdata amplitude amplitudeapi ankr antcolony anymail anymailfinder anypoint anyscale apacta api2cart api2pdf apideck apiflash
    apifonica apifootball apify apilayer apimatic apimetrics apininjas apisports apitemplate apivoid aplaceforai apollo apollographql
    apolloio appbase appbot appcenter appcues appdynamics appfigures appfollow appgyver appinsights applitools appointedd appoptics
    appsflyer appsignal appsmith appsynergy apptentive apptivo appveyor appwrite aquasec arangodb arcgis argilla argocd arize artifactory
    artsy asaas asana ascora asknicely assemblyai astradb astronomer atera atlassian audd auddio aunalytics auphonic auth0 authentik
    authorizenet authress authy autodesk autoklose autopilot autopilothq avalara avatax avaza aviationstack avochato avtech axiomhq
    axonaut axonius aylien ayrshare azuredevops azuredevopspat azureopenai azuresearch
    backblaze backendless balenacloud bamboohr bandsintown bandwidthcom bannerbear baremetrics baseapiio basecamp baselime baseten
    basistheory beamer beebole beehiiv bentoml besnappy besttime betaface betfair betterstack betteruptime bigcommerce bigdatacloud bigml
    bigpanda billbee billomat billplz binance bing bingmaps bingsubscription birdeye bitbar bitbay bitcoinaverage bitcoinaverageapi
    bitfinex bitflyer bitget bithumb bitly bitmex bitpanda bitpay bitquery bitrise bitsight bitso bitstamp bittrex bitvavo bitwarden
    blablabus blazemeter blitapp blockchair blockchyp blockcypher blockfrost blocknative blockspan blogger bloomreach bluejeans bluesky
    bluesnap blynk bokun bombbomb bonusly bookingsync boostnote borgbase botify botpress boxoauth brainshop braintree braintreepayments
    branchio brandfetch braze breezyhr brevo brightcove brightdata brightlocal broadcom browserbase browserless browserstack browshot
    bscscan buddyns budibase bugcrowd bugfender bugherd bugsee bugsnag bugsplat buildbuddy buildkite builtwith bulbul bulksms bunnycdn
    bunnynet buttercms bybit
    cachix caflou calcom caldotcom calendarific calendly callfire callrail calorieninja calorieninjas campaignmonitor campayn cannyio
    canva capsolver capsulecrm captaindata carboneio carboninterface cardconnect cartodb cashboard cashfree caspio catchpoint censys
    centralstationcrm cerebras cexio chainstack chameleon changenow chargebee chargeover chargify chartbeat chartmogul chatbot chatbotkit
    chatfuel chatfule chatwoot checio checkio checkly checklyhq checkmarx checkoutcom checkvist chorusai churnkey cicero cilium circleci
    cisco ciscomeraki ciscospark ciscoumbrella ciscowebex citrix citybikes civo clarifai clay clearbit clearout clevercloud clevertap
    clickatell clickhelp clickhouse clickhousecloud clickmeter clicksend clicksendsms clickup cliengo clinchpad cliniko clipdrop clockify
    clockworksms clojars closecrm closeio cloudability cloudamqp cloudant cloudconvert cloudelements cloudera cloudflare cloudhealth
    cloudimage cloudinary cloudmersive cloudns cloudplan cloudsight cloudsmith cloudways cloudzero cloverapi cloverly cloze clubspeed
    clustdoc coactive cobaltio cockroachcloud cockroachdb cockroachlabs coda codacy codeclimate codecov codefresh codegpt codemagic
    codeocean codequiry coderabbit codesandbox codesee cogmento cognitoforms cohere coinapi coinapiio coinbase coincap coindesk coinex
    coingecko coinlayer coinlib coinmarketcap coinpaprika coinpayments coinranking collect2 collibra cometml commercejs commercelayer
    commercetools commodities commoditiesapi companieshouse companyhub composio configcat confluent confluentcloud connectwise
    constantcontact contentful contenthub contentsquare contentstack context7 contrastsecurity conversiontools convertapi convertcom
    convertio convertkit convier conviva copper copyleaks coralogix cortexdata corticon couchbase countly countrylayer countrystatecity
    courier covalenthq coveo coveralls coze craftmypdf crashlytics creatomate crewai cribl crispchat cronhub cronitor cronofy crossref
    crowdin crowdsec crowdstrike crunchbase cryptoapis cryptocompare cryptolens cryptopanic ctrader currencybeacon currencycloud
    currencyfreaks currencylayer currencyscoop currentsapi curseforge customerguru customerio cyberark cyberghost cybersource cyfe
    d7network d7networks dacast dadata dailyco dailymotion dandelion dandelionapi dareboost dashlane databento databox databricks datacamp
    datadog datadome datafire dataforseo datagma datagov datahub dataiku datarobot datasift datastax datawrapper datocms dbconn dbtcloud
    deapi debounce debounceio decodo deepai deepgram deepinfra deepl deepnote deepseek deepsource definednetworking delighted deliverect
    deliveroo demio denodeploy dependencytrack deputy deribit dessn detectify detectlanguage devcycle deviantart devrev devto dexcom dfuse
    dialogflow dialpad diffbot diggernaut digicert digikey digitalocean directus discogs discord disqus ditto dittohq dixa dnscheck
    dnsimple dnsimpleapi dnsmadeeasy docparser docraptor docsumo documo docusaurus docusign docuware dolibarr doordash doppler dotdigital
    dotmailer dovico downdetector drata dreamhost dreamstudio dribbble driftcom dronahq droneci dronedeploy dropbox dropboxsign
    dropcontact dsers duckdns duda duffel dummyapi duneanalytics duosecurity duply dustid dvla dwolla dynadot dynalist dynamsoft dynatrace
    dyndns dyspatch
    eagleeye eagleeyenetworks easyinsight easypost easyquery easyship ebay ebird ecobee economicdata econtact ecostruxureit ecwid edamam
    edenai edgecast edgio editorx educative eightxeight elasticcloud elasticemail elasticpath electricitymap electricitymaps elevenlabs
    eloqua emailable emailhippo emailjs emaillistverify emailoctopus emailoversight emailrep emarsys embedly emnify emsisoft enablex
    encharge endorlabs enigma enigmaio enormail enrow ensembledata envato envoyapi eodhd eodhistoricaldata equinix equinixmetal eraser
    ercot esendex espocrm etherpad etherscan ethplorer etsy eventbrite eventzilla everbridge everhour evernote eversign evervault
    everypixel everysport exchangerate exchangerateapi exchangerateapiio exchangeratesapi exchangerateshost exoclick exoscale expedia
    expensify exportsdk extractorapi ezoic
    fabricio faceapp facebook faceplusplus fakestore fastforex fastly fastmail fastspring fathomanalytics fatsecret fattureincloud faunadb
    featherless fedex feedbin feedier feedly feefo fetchrss fibery fieldwire figma filebase fileio filemaker filestack filezilla finage
    financialmodelingprep fincity findl fingerprintjs finicity finmind finnhub fintoc firebase fireblocks firebolt firecrawl fireeye
    fireflies firehydrant firetext fireworks firstpromoter fitbit fivetran fixerio flagsmith flatfile flatio fleetbase fleetcomplete
    fleetio flexera flexmail flexport flickr flightapi flightaware flightlabs flightstats floatapp flodesk flowcode flowdock flowflu
    flowise flowroute flutterflow flutterwave flyio fmfw fmpcloud fontawesome footballdata foreignexchange forestadmin formatio formbucket
    formcraft formio formsite formspree formstack fortanix fortinet fortnox fossa foursquare foxentry frameio fraudlabspro freeagent
    freecurrencyapi freemius freepik freesound freshbooks freshcaller freshchat freshdesk freshping freshsales freshservice freshteam
    freshworks friendli friendliai front frontapp frontegg frontify fugle fulcrum fullcontact fullstory funtranslations fusionauth
    fxmarket fxmarketapi
    gainsight gameanalytics gamejolt gandi gateio gcore geckoboard geekflare geetest gemini geminiapi genderapi genesys gengo geniusapi
    gentrace geoapi geoapify geocode geocodefarm geocodexyz geocodify geocodio geoipifi geoipify geonames geotab getambassador getbee
    getdatabox getemail getemails getgeoapi getgist getimg getindiekit getprospect getresponse getsandbox getsentry getstream getswift
    gettyimages getwaitlist ghost ghostcms ghostinspector giantbomb gigachat gitalk gitbook gitguardian gitkraken gitpod gitter givebutter
    glassfrog glassnode glitchtip globalping globalsign globus gloriafood gnews goaffpro gocanvas gocardless gocd godaddy gohighlevel
    goldapi goldrush gongio goodday goodreads googleads googlecloud googlegemini googlemaps googlepagespeed googlesheets gorgias goshippo
    gotify gotowebinar grafana grafanacloud grammarly grandstream graphcms graphcool graphhopper graphlit graylog greenhouseio greptile
    greynoise gridly gridpane groovehq groq growthbook growthzone grubhub gtmetrix guardian guardianapi guesty guidepoint gumlet gumroad
    gupshup gurobi guru gyazo
    hackerearth hackernoon hackerone hackerrank haloitsm handwrytten hapikey happi happyfox happyscribe harness harnessio harvest
    harvestapp hashicorp hashnode hasura haveibeenpwned hcaptcha hcloud healthchecks heapanalytics heapio helcim helicone heliconeai
    heliusapi heliusrpc hellosign helpcrunch helpdesk helpdocs helpscout helpshift hereapi heremaps heroku heropanel hetzner hetznercloud
    hevo hevodata heygen heyreach hibob hiboutik highlevel highlightio highnote hightouch hive hiveage hivemq hiveos hoiio holidayapi
    holistic homeassistant honeybadger honeycomb honeygain hootsuite hopsworks hostaway hostfully hostinger hotelbeds hotjar hotmart
    hrflow html2pdf htmlcsstoimage hubbapi hubspot hubstaff huggingface humanapi humanity humanloop hunter hunterhow hunterio huobi
    hybiscus hybridanalysis hygraph hypeauditor hyperbolic hyperbrowser hypercontext hypertrack hyperwallet hyros
    ibmcloud ibmiam ibmwatson icecat iconfinder iconscout icontact icypeas idenfy ideogram idtechex iexapis iexcloud iflytek igdb illumio
    imagekit imagekitio imagga imgbb imgix immuta impala imprezahost improvmx inboxsdk indiegogo inflectra influxdb infobip infogram
    infomaniak informatica infracost infura ingestly inkeep inngest inoreader inpost insightly insightvm instabot instabug instacart
    instagram instamojo instana instapaper instatus instructure intellihr intelx interactivebrokers intercom interseller intra42 intrinio
    intruder intruderio invidious invoiceninja invoiceocean ionic ionos ip2location ip2proxy ip2whois ipapi ipbase ipdata ipdatabase
    ipfind ipgeolocation ipgeolocationapi ipify ipinfo ipinfodb iplocate ipqs ipquality ipqualityscore ipregistry ipstack ipxapi ironio
    irradiant istio itunes iubenda izooto
    jamaicloud jambonz jamendo jamf janrain jdoodle jellyfin jetbrains jfrog jina jinaai jira jiratoken jobadder jobber jobvite jotform
    jsonbinio jumio jumpcloud jumpseller junipernetworks jupiterone juro justcall justworks jwplayer
    kaggle kagi kagisearch kairos kairosapi kairosio kaleyra kaltura kameleoon kanban kanbanflow kanbanize kanbantool karbon karmacrm
    kartra kaspr keap keboola keenio kendo keycdn keymetrics keywordtool kickbox kickofflabs kimai kinsta kintone kissflow kissmetrics
    klarna klaviyo kleinanzeigen klenty kleverly klickly klickpages klingai klipfolio klue knack knapsackpro knockapp knowbe4 knowi kolide
    komodor komoot konghq konnect kontent kontentai korapay kraken krakend krisinformation krisp kubecost kucoin kudosity kustomer kyckr
    kylas
    labelbox labelstudio lacework lakera lakeraai lambdalabs lambdatest lamini lancedb langchain langfuse langsmith languagelayer
    languagetool laravelforge laravelvapor larksuite lastpass latenode launchdarkly layerzero leadboxer leadconnector leadfeeder leadiq
    leadmagic leadsquared leanix leankit learndash learnworlds lemlist lemonsqueezy lendflow leonardoai lepton leptonai lessannoyingcrm
    letterboxd letterdrop levelio lexigram librato libratoapi librenms libreview lifx lighton lightstep ligolab limechat limesurvey
    linearb linenotify linkedin linkly linkpreview linksquares linktree linode liquibase liquidplanner listennotes listrak litellm litmos
    littlewarden liveagent livechat livechatinc livekit livestorm llamacloud llamaindex loadero loadimpact loadmill loadster lob lobapi
    localazy localise localytics locationiq lodgify logdna logentries loggly logicmonitor loginradius logrocket logsnag logtail logzio
    lokalise looker loopsso loqate lordicon loyaltylion loyverse lucidchart lumahealth lumalabs lumigo lunarcrush lunary lunchmoney luno
    lunolabs lusha lyft
    macaddress macaddressio macstadium madkudu magicapi magicbell magnetic magnific mailbeez mailboxlayer mailboxvalidator mailcheck
    mailchimp mailerlite maileroo mailersend mailersendapi mailgun mailinator mailjet mailjetsms mailmodo mailosaur mailparser mailsac
    mailshake mailslurp mailtester mailtrap mailvio maintainx mambu manageengine mandrill manychat mapbox mapillary mapquest maptiler
    marketaux marketcheck marketo marketstack marvelapi matillion matomo matrixio mattermost matterport mavenlink maxio maxmind
    maxmindlicense meaningcloud mediastack medusajs meetup meilisearch meistertask meltwater membean memberful memberspace memberstack
    memcachier memgraph memsource mendeley mendix mentimeter meraki mercadolibre mercadopago mercury mergify mesibo messagebird messari
    metaapi metabase metalpriceapi metalprices metalsapi metaplex metricstream metrilo mews microcms microlink microsoftgraph
    microstrategy midtrans milvus mimecast mindbody mindmeister mindsdb minimax mintlify mintsoft miro misterduty mistral mite mitto
    mixmax mixpanel mobygames mockapi mockaroo modjo moesif mollie monday mondaycom moneybird mongodbatlas monkeylearn monnify moogsoft
    moonclerk moonpay moonshotai moosend moralis motherduck motionapp mouseflow movebank moveworks moxiesoft mrticktock msg91 msteams
    mtnmomo mubert mulesoft multisafepay musixmatch mux mxtoolbox myfreshworks myfxbook myintervals myjson mymemory myob myparcel
    mysportsfeeds
    n8n nango nansen nasaapi nasdaqdatalink nationbuilder navisite ncbi nearmap neartail nebius neo4jaura neocities neondb neonone
    neptuneai nessus nestio netatmo netcraft netcup nethunt netlify netscaler netskope netsuite networx neutrino neutrinoapi neverbounce
    newrelic newrelicinsights newsapi newscatcher newscatcherapi newsdata newsdataio newsletter2go nexmo nexmoapi nexpose nextcloud
    nextdns nexthink nextiva nexudus nftport nftscan ngc ngrok nicehash nicereply nightfall nimble ninjaone ninjarmm ninoxdb nitro
    nitrokey nitropack nlpcloud nocodb nocrm nodebb noip nomicai nomics northflank northpass noticeable notionapi novita novu nowpayments
    nozbe nozbeteams nsone nuclino nuget numlookup numlookupapi numverify nutanix nutritionix nvidiangc nylas nymeria nytimes
    oanda obsidiansync ocrspace octoai octoeverywhere octoparse octopart octopus octopusdeploy odoo offorte okcoin okex okta oktaapi okx
    olark omdb omdbapi omise omnisend omniture onebip onedesk onelogin onepagecrm onepassword onesignal onetrust onfido onfleet onpage
    onshape onwater onwaterio oopspam openaq opencage opencagedata opencart opencellid opencloud opencorporates opendatasoft openexchange
    openexchangerates openfda openfec openfigi openholidays openinvoice openlayer openmeteo openobserve openphone openpipe openproject
    openrouter openrouteservice opensanctions opensea openstates openstreetmap opensubtitles opentok openuv openvpn openweather
    openweathermap opinary opsgenie opslevel opsramp optimizely optimove optisigns orangehrm orcasecurity orderdesk oreilly oroinc osano
    oseberg ottertune outbrain outscraper outseta overloop ovh ovhcloud owlbot owler owncloud oxylabs
    packagecloud packetfabric pactflow paddle pagarme pagerduty pagerdutyapi pagespeed pandadoc pandascore pangea pantheon panther
    papercups paperform paperlesspost paperspace papertrail parabola paralleldots parsehub parsely parsers parseur particleio partnerize
    partnerstack passbase passbolt passkit passslot pastebin patreon paychex paycor paydirt paydirtapp payhawk payhere payloadcms
    paymentwall paymo paymoapp paymongo payoneer paypal paypalbraintree paypay payplug paypro paysafe paystack paystand paytm payu pcloud
    pdfco pdfcrowd pdfgenerator pdfgeneratorapi pdflayer pdfmonkey pdfshift peekalink pegelonline pendoio penpot peopledatalabs peoplehr
    pepipost percona percy perfectgym performyard permitio perplexity personio petfinder pexels phantombuster phaxio philipshue photoroom
    phrasecom phylum picatic pickaxe pika piloterr pimcore pinata pinboard pinecone pingdom pingidentity pipecat pipedream pipedrive
    pipefy piperun pitchbook pivotaltracker pixabay pixela placekit plaid planetscale planhat planner5d planplus planview planviewleankit
    planway planyo platerecognizer platformsh plausible playfab playht plesk plivo plotly plugnmeet pluralsight podchaser podio podscribe
    poeditor polarsh pollsapi poloniex polygonio polygonscan polymarket portainer portkey portkeyai positionstack postageapp postalytics
    postbacks postcodesio postgrid posthog postman postmark postmarkapp postmates postmen postnl powerautomate powerbi powrbot predicthq
    predictionguard predictleads prefect premiumize prerender pretix pricehubble printful printify printnode prisma prismacloud prismaio
    prismic privacy privacycom privateai procore prodigi prodpad productboard productfruits programmableweb projectplace promptfoo
    promptlayer propelauth propertyradar prospectcrm prospeo prosperworks protocolsio proxycrawl proxycurl proxyscrape ptvgroup publer
    pubmed pubnub pulsedive pulumi puppetforge puresource purestake purgomalum pushbullet pushcut pushengage pusher pusherchannel pushover
    pushpad pushwoosh pythonanywhere
    qase qdrant qencode qlik qlikcloud qnamaker qonto qrcodemonkey quaderno qualaroo qualtrics qualys quandl quay qubole quickbase
    quickbooks quickchart quicknode quiknode quivr quoine quotaguard
    rabbitmq rackspace railwayapp rainforest rainforestapi rainloop raken ramp randomuser rapid7 rapidapi rapyd rawg raygun razorpay
    reachmail readability readmeio readwise realestateapi reallysimplesystems realtymole reapit rebilly rebrandly recaptcha rechargeapps
    rechargepayments recombee recruitee recurly redash redgifs redislabs redmine redoc redsys reducto reelgood refersion refiner regfox
    rei3 reka rekaai reloadly rememberthemilk remoteok removebg rentcast rentman reoon repairshopr replyio reportportal requestbin
    requestfinance reseller resellerclub resemble resend restdb restpack restpackhtmltopdf restpackscreenshot retellai revai revampcrm
    revenuecat reversecontact reviewsio revolut rewardful rhombus rightscale ringcentral ringover riot ripplecrm riskified riskiq ritekit
    roaring robinhood robinhoodcrypto roblox rocketchat rocketlane rocketreach rockset rokt rollbar roninapp rootly rosette route4me
    routemobile rownd rspace rudderstack runcloud runpod runrunit runscope runway runwayml rytr
    saferpay safetyculture sageone sailpoint saladcloud salesblink salescookie salesflare salesforce salesloft salesmate salesmsg salesql
    samcart samsara samsungknox sanityio sarvam satismeter sauce saucelabs savvycal scalegrid scaleway scalingo scalr scanova schoology
    scitepress scorebat scrapecreators scrapegraph scrapeops scrapeowl scraperapi scraperbox scrapersite scrapestack scrapfly scrapingant
    scrapingbee scrapingdog scrapingfish scrapinghub screenly screenshotapi screenshotlayer screenshotmachine screenshotone scrutinizer
    scrutinizerci scryfall sdxl seamapi seamless searchapi searchbug searchmetrics searchspring seatable seatgeek sectigo
    securecodewarrior securelink securitycenter securityscorecard securitytrails segmentapi segmind selectpdf selz semanticscholar
    semaphore semaphoreci semaphoresms semgrep semrush sendbird sendcloud sendfox sendgrid sendinblue sendlane sendle sendloop sendowl
    sendpro sendpulse sendwithus senseforce sensibo sensorpush sensortower sentiment sentinelhub sentinelone sentione sentryio seqera
    serpapi serpdog serper serperdev serphouse serply serpstack serpwow servicebus servicem8 servicenow servicetitan sessionm setmore
    settlemint sevdesk sezzle sftpcloud shaketube sharefile sharpspring sheetdb sheetlabs sheety sherpadesk shipbob shipbook shipcloud
    shipday shipengine shippo shiprocket shipstation shodan shopee shopify shopware shortcm shortcut shortio shotgrid shotstack
    shutterstock sidekiq siftscience sightengine signable signalfx signalwire signaturit signnow signrequest signupgenius signwell sigopt
    silabs siliconflow simfin similarweb simkl simplecast simplelogin simplesat simplynoted simplyrets simpro simvoly sinch sinchmessage
    singlestore sirv siteground siteimprove sitejabber siteleaf skrapp skrappio skybiometry skyscanner slack slackwebhook slido smartcar
    smartlead smartling smartproxy smartrecruiters smartsheet smartsheets smartsuite smartthings smarty smartystreets smooch smsapi
    smsgatewayme smsglobal smsmode smtp2go smtpcom snaplogic snappay snipcart snov snovio snowflake snyk soapbox socialbee socialdata
    socketdev softlayer solarwinds solcast soldo solscan sonar sonarcloud sonarqube sonatype soniox sophos sorare soundcloud sourcegraph
    sovendus spacelift sparkpost speechly speechmatics speechtextai spendesk spiceai spiketime spinwheel splitio splitwise splunk
    splunkobservability spoonacular sportmonks sportradar sportsdata sportsdataio sportsmonk spotify spotinst spotio spreedly springcm
    sprinklr sproutsocial sproutvideo spryker spscommerce spyfu squadcast square squarespace squareup ssllabs sslmate sslstore stabilityai
    stackblitz stackhawk stackpath stackrox stampli stannp starling starrez statamic statflo statsig statuscake statusgator statuspage
    statuspageio statuspal steamapi steamgriddb steampowered stellate stitchdata stockdata stockdataorg stocktwits storecove storj
    stormboard stormglass storyblok storychief strapi strava streak streamelements streamio streamlabs stripe stripo strongdm stytch
    subsplash substack sucuri sugarcrm sugester sumologic sumsub sunshineconversations supabase superfeedr superhog supermetrics
    supernotes supertokens supportbee surferseo surveyanyplace surveybot surveygizmo surveymonkey surveysparrow survicate svix swagger
    swaggerhub swapcard swell swiftype swipely symantec synack syncfusion synctera synthesia sysdig systemio
    tableau tabnine taboola tailscale tailwindui talentlms talkdesk tallyfy tanium tapfiliate targetprocess tatum tatumio tavily tavus
    tawkto taxamo taxcloud taxjar teachable teamgate teamleader teamtailor teamup teamviewer teamwork teamworkcrm teamworkdesk
    teamworkspaces technicalanalysis technicalanalysisapi tecton teespring tefter telegram telegrambot telerik telesign teletype telnyx
    telstra tempoio tencent tencentcloud tenderly tensordock teradata termii testcafe testingbot testlodge testmail testmailapp testmo
    testrail testsigma text2data textanywhere textlocal textmagic textrazor thalesgroup thanksio thecatapi thedogapi theirstack themoviedb
    theoddsapi thesportsdb thetvdb thingiverse thingsboard thingspeak thinkific thinkst thirdweb thoughtspot thousandeyes threatconnect
    threatstack thunderstore ticketmaster ticketsource tickettailor tickspot tiingo timecamp timescaledb timetastic timezoneapi timezonedb
    tincan tines tinify tinybird tinymce tinypng tinyurl tipalti tly tmdb tmetric todoist togetherai toggl toggltrack tokeet tomba
    tomorrowio tomtom tookan toornament totango touchbistro trackjs tractable tradegecko tradestation tradier tradingeconomics transactpay
    transferwise transifex translink transloadit travelpayouts travelperk travisci trello tremendous trengo triggerdev trimble trinsic
    tripadvisor tripit tripletex tru truelayer truenas truepill trulia trustradius trustwave trypico tumblr turbify turbot turbotax
    turnitin turntio turso tutanota tvmaze twelvedata twelvelabs twilio twist twitch twitter twocaptcha txtag tyntec typeform typefully
    typesense typetalk typo3
    ubidots ubuntuone uclassify udemy uipath ultradns ultravox umami umbraco unbounce unbounceapi unelmamail unicreditapi unifi unifyid
    unplugg unsplash unsplashapi unstructuredio upbank upcdatabase upcitemdb upcloud updown updownio uplead uploadcare uploadio upollo
    uppromote uprise upsellit upstash upstox uptimecom uptimekuma uptimerobot upvoty upwave upwork urbanairship urlbox urlmeta urlscan
    urlscanio usabilla usaspending userflow userguiding userpilot userstack uservoice usgs usps
    vagaro vagrantcloud valdi valtown vanta vapi varonis vastai vatapi vatcheckapi vatlayer vatsense vatstack vbout vectara vectorshift
    veeam veeqo vellum venafi vendasta veracode verafin vercel verdaccio verifalia veriff verifier verifone verimail veriphone versioneye
    vesselfinder vestaboard vexere viber videoask videosdk viewneo vimeo virgilsecurity virtru virustotal visaapi viscircle visualcrossing
    visualping vitally vivocha vkontakte vmray vmware vocus voiceflow voicegain voiceit voicemonkey voilanorbert voipms volcengine vonage
    voodoosms voucherify vouchery voximplant voyage voyageai vplan vpnapi vtex vtiger vuforia vulcain vulncheck vulners vultr vwo vyond
    vyte
    waboxapp wachete wakatime walkscore wallarm walletconnect wandb wappalyzer warpstream wasabi wasabisys wassenger wati waveapps waylay
    wazuh weatherapi weatherbit weatherflow weatherlink weatherstack weatherunderground weaviate web3storage webcargo webex webexbot
    webflow webhookrelay webhooksite webinarjam webmasterapi weboxapp webpurify webscraper webscraping webscrapingapi websitepulse weebly
    weglot weightsandbiases wepay wercker whatagraph whatcms whatsmyip whereby whoapi whoisfreaks whoisxml whoisxmlapi whop whoxy wigle
    wildapricot wise wistia wit witai withings wizio wiziq wolframalpha woocommerce woodpeckerco wootric wordnik wordpressapi wordsapi
    wordtune workato workday workfront workiva workos worksnaps workstack worldcoinindex worldpay worldtides worldtradingdata worldweather
    worldweatheronline wpengine wrike writesonic wso2 wufoo wundergraph
    xai xata xendit xero xignite xmatters xneelo xrapidapi
    yahoofinance yandex yandexcloud yelp yepcode yesware ynab yotpo youcanbookme youdata youneedabudget younium yousign youtrack ytel
    yubico yuque
    zadarma zamzar zapier zapierwebhook zapsign zeliq zencoder zendesk zendesksell zendrive zenefits zengin zenhub zenkit zenkitapi
    zenmaid zenrows zenscrape zensend zenserp zenvia zephyrscale zeplin zeptomail zerion zerobounce zerogpt zerossl zerotier zhipu zhipuai
    zigpoll zilliz zillow zingle zipapi zipbooks zipcodeapi zipcodebase zipcodestack zippopotam ziprecruiter zixflow zoho zohocrm zoneedit
    zonkafeedback zonos zoominfo zoomus zoopla zscaler zulip zulipchat zuora zuplo zyte
    """
)

#: Names that are also ordinary words, or that stand beside public ids and hashes (forges, registries, clouds): these need ``key``,
#: ``token``, ``secret`` or the like beside them.
AMBIGUOUS_NAMES = table(
    """
    ably abstract adjust admob affinity air alerta alloy anaconda anchor ant anthropic anvil apex appcircle appetize apple arc ark astra
    atlas attio authorize aws axiom axle azure
    backlog balena bamboo banana bandwidth base baseapi basis beacon beam bee bench bento better bill billing bird bit bitbucket
    bitbucketserver blackbaud blade block blueprint bolt boost box brain branch brave breeze breezy bridge bright bubble bubbleio bucket
    buddy buffer bulb bullet bunny buoy buzz
    cal canny canvas capsule carbon carbonblack carbone cashier caspian castle center chain chainlink chamber chargebacks chat chatgpt
    chatter check checkout chromatic circle citrus clarity clear clever click clockwork close cloud cloudfront clover clubhouse cluster
    coast cobalt cockpit code codeship coherence cohort collect column comet commerce compass conductor contact contrast convert convoy
    coral cordial core cortex cosmic couch couchdb coursera cove crate creative crisp cron crypto cube curator currencyapi currents cursor
    customer cypress
    daily darksky dart dash deal deck defined deliver deno deploy depot descript desk desmos dev devin digger digital disco discourse doc
    dock docker dockerhub docs dolby domain domo doubleclick dove dovetail drift drip drone drupal duo dust dyn
    eagle echo edge elastic elasticsearch embed ember emma encyclopedia enterprise envoy eventful everlaw evident exa exchange exotel expo
    fabric facts falcon fathom fauna feather fetch fiber first fivestars fixer flagship flame flare flash flat fleet flex flipkart float
    flow fluent flux folk forge formal forms fort fortify forward frame freedom fresh friend ftp fuel funda fusion
    gather gem getaddress giphy gist gitea gitee github gitlab glean glide gmail go gold gong good google googleai googleapi gradientai
    grain graph gravity green greenhouse grid groove ground grow
    hack happy harbor heap hedera helix helm help here hero highlight home honey hook hookdeck hosting hotel house howdy htmltopdf hub
    hugging human hype
    ibm iconic ideal ikea imagine imgur impact imperva indeed indigo infinity info insight insights instantly invision invoice ion iron
    ironclad island iterable
    jam jasper jenkins jet joy jsonbin jsonstorage judge juice juicebox jump jungle juniper justice
    kanboard karma kayak keen keep keepa keeper keycloak keygen keyvalue khanacademy kickserv kimi kin kinde kit kite kling knock koala
    kong kubernetes
    lane lantern lark lastfm lattice launch launchpad layer lead leap lens lever lexis light lightning lightspeed lilt lime line linear
    link liquid lithium litmus live llama load loom loop loopreturns loops lotus lucid luna lynx
    magento magic magnet mailbox manifest map maps marker market marvel mason mastodon matrix max mediawiki meet mention merge mesh
    metafield meter metricbeat mezmo mini mint mirage mix mobile modal mode modelbit modelscope moderation moderationapi modern moment
    mongodb monitor mono monster moodle moon moonshot morningstar mosaic mother motion mouser move music
    nagios navan navigator near nest net neutral news nexus nice night nomad north notice notify notion nova nozzle npm npmjs numbeo
    nutshell nvidia
    ocean octane odds olive ollama onion open openai openbanking opensearch openshift openstack optimize opus oracle oracledb orbit orchid
    origin otter outlook outreach overflow oxygen
    packagist packet pager pageseeder pan panda paper parallel particle partner pass passage pay payload peer pendo perigon persona phase
    phone phonenumber phrase piano pilot pin ping pinnacle pinterest pipe pipeline pivot pixel plan planet planner plasma play pleo plot
    plug plunk pocket podium poly polygon portal poster power preset press prestashop presto print prism privacyidea privy productive
    profit proof prop prospect proxy pulsar pulse pump pure push puzzle pypi
    qualified quantum quartz quick quill quip quotable quote
    rail railway rain rainbow range rapid raven ray reach react reader readme readthedocs ready real recharge recruit recurrent reddit
    redis reef refer reflect regal relay remote render rent repl replay replicate reply report resolve retool review rewind ring ripe
    ripple river roar robot rocket root rose rossum route rover ruby rubygems rumble
    safe sage sail salt sanity sap scale scene school scout screen scribd seal search seat secure seed segment send sense sensor sentinel
    sentry serial shape share sharepoint sheet shield ship shop shot sift sigma signal silo simple simplybook site sitebulb sketch skill
    sky skyvern slate slice smart smash snap snapchat snow social solace solar solid sonic sound sourceforge space spark speakeasy
    spectrum speed spike spin spiral split spot spring sprint spruce stability stack stackexchange stackoverflow stage star stat
    staticforms stats steady steam stella step stock storm story strange stream street streetview strong studio style sugar suite summit
    sun superhuman superset supply surf surge survey swan sweet swift switch symbl symfony synthetic
    taiga tailor tally tango tap tax team teamcity tech tele tempo temporal tenable tender tensor terra terraform thanks thinking thread
    thrive ticket tide tiger tiktok tile timely timestream together toggle tool top topaz torch total touch tower town trade traffic trail
    transcribe transit travel traversals travis tray trigger trinity trip tron trustpilot truth tune turbo turn twin
    ultra umbrella unify union uniswap unity unkey unleash unstructured upper upstage urban userback userlist userreport
    val valet vapor vault vector vehicle vend venture verge verify vertex vertica vessel vest vibe video vine violet vision vista visual
    vital volt vote
    walk wall war water wave wealth weather web weights whatsapp wikimedia windmill windy wire wix wolfram wonder woodpecker wordpress
    work workable workflow world writer
    xing
    yahoo yard yield yoga your youtube
    zabbix zap zen zip zipcode zipline zone zoom
    """
)
